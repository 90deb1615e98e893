/** The headers in which proxy.ts gives a page its own address and its nonce, which the page cannot know otherwise. */
export const PATH_HEADER = 'x-console-path';
export const NONCE_HEADER = 'x-nonce';
