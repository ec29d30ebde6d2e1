"""What puts a follow-up's cell into a notebook and runs it: a browser tab, or the server alone."""
