"""fairseq sequence generators: glue between fairseq's samples and the searches."""
