"""Studies that check the library against simulations; they belong to the checkout and are not installed with it.

``coverage`` simulates measurements whose true values are known and counts how often the library's intervals hold them.
"""
