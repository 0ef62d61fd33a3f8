"""The lines that Paddle prints (2.6 to 3.3): their words and what can be taken from them. Readers keep state between lines."""
