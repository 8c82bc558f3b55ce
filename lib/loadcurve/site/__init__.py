"""Macros and build hooks of the handbook; they show the files that `publish` wrote, and write only pages."""
