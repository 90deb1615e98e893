/** Texts to turn into vectors with a model of the workspace's own keys. */
export type EmbedRequest = {
  tenantId: string;
  projectId: string;
  /** `provider/model`. */
  model: string;
  texts: readonly string[];
};

/** One vector for each text, all of one length; or why there are none. */
export type EmbedAnswer =
  | { kind: 'vectors'; vectors: readonly number[][] }
  | { kind: 'failed'; code: string; message: string; retryable: boolean };

/** The port to embedding models. Resolves soon after `signal` aborts; rejects only for defects. */
export type Embed = (request: EmbedRequest, signal: AbortSignal) => Promise<EmbedAnswer>;
