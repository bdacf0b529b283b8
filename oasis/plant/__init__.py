"""The plant: values, drivers, the site file, plans, the audit, and the tools made from them for every protocol."""
