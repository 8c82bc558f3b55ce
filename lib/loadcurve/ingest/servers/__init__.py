"""What web servers say of themselves."""
