/** The headers by which proxy.ts tells a page, which cannot know it otherwise, its own address and its nonce. */
export const PATH_HEADER = 'x-console-path';
export const NONCE_HEADER = 'x-nonce';
