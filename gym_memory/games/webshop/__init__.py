"""WebShop: buy what a request asks for, in a shop of search, result and item pages.

``shop.py`` is the engine with ``pages.py`` and ``reward.py``; ``catalogue.py`` reads products,
``synthetic.py`` makes them. ``rules*.py`` read pages and never see a catalogue.
"""
