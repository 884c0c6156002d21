-- compatible-from: 22
-- The ways on which outcomes of the verdict came, with a blank around each: names of origins and ids of connections.
-- Null: from before this column.
ALTER TABLE outcome_verdicts ADD COLUMN came_from TEXT;
