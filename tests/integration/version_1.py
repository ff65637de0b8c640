"""A ledger of schema version 1, by the statements and with the rows that inbounds 0.1 wrote."""

_TABLES = """
CREATE TABLE ledger_schema_version (
    version INTEGER NOT NULL, PRIMARY KEY (version)
);
CREATE TABLE ledger_datasets (
    dataset TEXT NOT NULL, epsilon TEXT, delta TEXT, rho TEXT, time TEXT NOT NULL,
    hash TEXT NOT NULL, PRIMARY KEY (dataset)
);
CREATE TABLE ledger_costs (
    digest TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (digest)
);
CREATE TABLE ledger_charges (
    dataset TEXT NOT NULL, number BIGINT NOT NULL, time TEXT NOT NULL, label TEXT NOT NULL,
    mechanism TEXT NOT NULL, cost TEXT NOT NULL, count BIGINT NOT NULL, hash TEXT NOT NULL,
    PRIMARY KEY (dataset, number),
    FOREIGN KEY(dataset) REFERENCES ledger_datasets (dataset),
    FOREIGN KEY(cost) REFERENCES ledger_costs (digest)
)"""

_KEYS = {
    "ledger_costs": "digest = NEW.digest",
    "ledger_datasets": "dataset = NEW.dataset",
    "ledger_schema_version": "version = NEW.version",
    "ledger_charges": "dataset = NEW.dataset AND number = NEW.number",
}
_REFUSE = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"

_COST = "e5f1d6c4c36c52fee5b55adfe5952103185bcca6f0b40e6241e0c134495b3f01"
HEAD = "8a08879a1245d966c414d6797abff65b8d23a0626e52c52d1b6beeb9a3e8142d"
"""The hash of the newest entry."""

_ROWS = [
    "INSERT INTO ledger_schema_version VALUES (1)",
    "INSERT INTO ledger_datasets VALUES ('survey', NULL, NULL, '0.5', "
    "'2026-11-16T00:49:30.086027+00:00', "
    "'0bfe5e9231a959bbafd0879c688c5274d942aa5705de7c453d06e73e64141924')",
    f"INSERT INTO ledger_costs VALUES ('{_COST}', "
    '\'{"epsilon":null,"delta":0.0,"loss":{"epsilon":null,"mu":null,"rho":0.1,"profile":[]}}\')',
    "INSERT INTO ledger_charges VALUES ('survey', 1, '2026-11-16T00:49:30.121301+00:00', 'old', "
    f"'', '{_COST}', 1, '7f9a8d95787a4d43eb95d63470259586ccaf23f9c47b76909987d1b8c5c1ce26')",
    "INSERT INTO ledger_charges VALUES ('survey', 2, '2026-11-16T00:49:30.161012+00:00', 'older', "
    f"'', '{_COST}', 1, '{HEAD}')",
]


def sqlite() -> list[str]:
    triggers = []
    for table, key in _KEYS.items():
        for event in ("UPDATE", "DELETE"):
            name = f"{table}_{event.lower()}"
            triggers.append(f"CREATE TRIGGER {name} BEFORE {event} ON {table} {_REFUSE}")
        exists = f"EXISTS (SELECT 1 FROM {table} WHERE {key})"
        triggers.append(
            f"CREATE TRIGGER {table}_insert BEFORE INSERT ON {table} WHEN {exists} {_REFUSE}"
        )
    return [*_TABLES.split(";"), *triggers, *_ROWS]


def postgresql() -> list[str]:
    triggers = [
        "CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
    ]
    for table in _KEYS:
        triggers += [
            f"CREATE TRIGGER {table}_rows BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION ledger_refuse()",
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()",
        ]
    tables = _TABLES.replace("version INTEGER", "version SERIAL")
    return [*tables.split(";"), *triggers, *_ROWS]
