"""The laboratory: code that measures or documents epochfuzz itself. The rest of the project does not import it."""
