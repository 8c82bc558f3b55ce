"""The handbook's own macros and build hooks: they show what `publish` wrote, and write nothing but pages."""
