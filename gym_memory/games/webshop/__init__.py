"""WebShop: buy what a request asks for, in a shop of search, result and item pages.

``shop.py`` with ``search.py``, ``pages.py`` and ``reward.py`` is the engine; ``catalogue.py``,
``files.py`` and ``synthetic.py`` give it wares. ``rules*.py`` read pages and never see a catalogue.
"""
