const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** Whether a text, such as one in an address, can be the id of a resource. */
export const isId = (text: string): boolean => UUID.test(text);
