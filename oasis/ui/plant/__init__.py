"""What a plant holds, shown to a person: tables, live values, recordings; or as JSON."""
