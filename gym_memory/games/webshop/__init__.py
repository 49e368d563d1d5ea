"""WebShop: buy a requested product in a shop with search, result and item pages.

``shop.py`` is the engine with its reward; ``catalogue.py`` reads or generates products.
``rules.py`` reads only pages.
"""
