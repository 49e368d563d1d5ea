"""WebShop: buy what a request asks for, in a shop of search, result and item pages.

``shop.py`` is the engine with its score; ``catalogue.py`` reads or makes products.
``rules.py`` reads pages and never sees a catalogue.
"""
