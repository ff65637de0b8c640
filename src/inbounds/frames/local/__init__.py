"""Every row by itself: columns of frames and files replaced by private outputs."""
