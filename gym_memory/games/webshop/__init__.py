"""WebShop: buy what a request asks for, in a shop of search, result and item pages.

``shop.py`` is the engine, ``reward.py`` its score; ``catalogue.py`` reads products,
``synthetic.py`` makes them. ``rules.py`` reads pages and never sees a catalogue.
"""
