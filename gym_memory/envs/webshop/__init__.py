"""WebShop: buy what a request asks for, in a shop of search, result and item pages."""
