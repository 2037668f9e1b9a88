"""What large work will take: rates measured on this machine, projected to a corpus."""
