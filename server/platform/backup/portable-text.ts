/**
 * Statements that make COPY's text independent of the settings of the server, the database and the user, in both directions.
 * `search_path` stays as it is: it says in which schema Baton's tables are.
 */
export const PORTABLE_TEXT = `
  SET client_encoding = 'UTF8';
  SET datestyle = 'ISO, YMD';
  SET intervalstyle = 'postgres';
  SET timezone = 'UTC';
  SET extra_float_digits = 3;
  SET bytea_output = 'hex';
  SET standard_conforming_strings = on;
  SET idle_in_transaction_session_timeout = 0`;
