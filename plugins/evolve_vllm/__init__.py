"""The kind of model `vllm`."""
