"""Which audit a command means."""

from pathlib import Path

from oasis.errors import AuditFault


async def chosen(site_file: Path | None, file: Path | None) -> Path:
    """The audit file named, that of the site file, or the only one there is. Raises AuditFault."""
    from oasis.agent.folders import audit_folder
    from oasis.cli.plant.targets import connected, loaded, needs_site
    from oasis.plant.audit import audit_path

    if file is not None:
        return file
    if site_file is not None:
        async with connected() as connections:
            return audit_path(audit_folder(), needs_site(loaded(connections, site_file)))
    found = sorted(audit_folder().glob("*.jsonl"))
    if len(found) == 1:
        return found[0]
    if not found:
        raise AuditFault(f"There is no audit in {audit_folder()}: nothing has been written to a plant from here.")
    listed = "\n".join(f"  {path}" for path in found)
    raise AuditFault(f"There are {len(found)} audits; name one, or its site file with --site FILE:\n{listed}")
