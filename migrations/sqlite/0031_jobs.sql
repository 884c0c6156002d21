-- compatible-from: 22
-- Migration 0003 made the table. This number is that of PostgreSQL's.
SELECT 1;
