-- compatible-from: 22
-- How a limit towards mail servers is divided among the nodes that share an egress address.
CREATE TABLE pace_slices (
  key TEXT PRIMARY KEY,
  version BIGINT NOT NULL,
  -- JSON: which node has how many units until when.
  division TEXT NOT NULL,
  ends_at BIGINT NOT NULL
);
