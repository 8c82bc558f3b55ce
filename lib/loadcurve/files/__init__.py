"""Files that are written whole, YAML with line numbers, and CSV that a spreadsheet opens safely."""
