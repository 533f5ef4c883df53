-- Aurora PostgreSQL: recorded, and run on no server. Values are bound.

-- before each statement: as in POSTGRES.sql

-- the sum of each month, of rows that a token restricts by text, a list and a number: as in POSTGRES.sql

-- rows of a table that has its client through its parent: as in POSTGRES.sql

-- a looked-up text, the second page: as in POSTGRES.sql

-- averages, extremes and distinct values, sorted by a float: as in POSTGRES.sql

-- the median of a number: as in POSTGRES.sql

-- the median of a date: as in POSTGRES.sql

-- days of the week in a timezone: as in POSTGRES.sql

-- all but a list, within a range of days: as in POSTGRES.sql

-- text by a pattern: as in POSTGRES.sql

-- the month before: as in POSTGRES.sql

-- a masked column: as in POSTGRES.sql

-- a hashed column: as in POSTGRES.sql

-- a FULL JOIN: as in POSTGRES.sql

-- SQL of the author: as in POSTGRES.sql

-- the catalog, statement 1: as in POSTGRES.sql

-- the catalog, statement 2: as in POSTGRES.sql

-- the catalog, statement 3: as in POSTGRES.sql

-- the catalog, statement 4: as in POSTGRES.sql

-- the catalog, statement 5: as in POSTGRES.sql

-- the catalog, statement 6: as in POSTGRES.sql

-- the catalog, statement 7: as in POSTGRES.sql

-- the catalog, statement 8: as in POSTGRES.sql

-- the catalog, statement 9: as in POSTGRES.sql
