"""Workers on other machines: those that join by hand, and those that Ray places."""
