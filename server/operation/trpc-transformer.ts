/**
 * Changes nothing: the wire format of tRPC is the JSON of the other surfaces, which keeps large integers by itself
 * (platform/json-text.ts). Without a transformer, tRPC's types would say that JSON drops bigints.
 */
export const PLAIN_JSON = {
  serialize: (value: unknown): unknown => value,
  deserialize: (value: unknown): unknown => value,
};
