const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** Returns true if a text can be the id of a resource. */
export const isId = (text: string): boolean => UUID.test(text);
