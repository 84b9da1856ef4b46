"""One declaration per resource; ``registry`` lists them and one generic screen draws them all."""
