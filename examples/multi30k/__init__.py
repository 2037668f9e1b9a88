"""The paper's study on real text: image captions in English, German and French."""
