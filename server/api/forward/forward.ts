import type { IncomingMessage } from 'node:http';
import type { Owner } from '../../orchestrator/ports/orchestrator.ts';
import type { Alarm } from '../../platform/clock.ts';
import { AppError, unavailable } from '../../platform/errors.ts';
import type { ApiRequest, ApiResponse } from '../request.ts';
import { type PeerRequest, Peers, UnansweredError, UndeliveredError } from './peers.ts';
import { relayed, requestHeaders } from './relay.ts';
import { FORWARDED_HEADER, type ForwardSeal } from './signature.ts';

/** How a forwarded request ended, for the metrics. `left`: the client did not wait for the answer. */
export type ForwardOutcome = 'answered' | 'undelivered' | 'unanswered' | 'left';

export type ForwardOptions = {
  /** The id of this node. */
  self: string;
  ownerOf(tenantId: string): Owner;
  seal: ForwardSeal;
  alarm: Alarm;
  count(outcome: ForwardOutcome): void;
};

/** The parts of a request that another node has to carry out. */
export type Forwardable = Pick<ApiRequest, 'method' | 'pathname' | 'search' | 'header' | 'headerNames' | 'address'>;

/** How long a request that reached no node is retried, each time with the currently known owner. */
const RETRY_FOR_MS = 2_000;
const RETRY_AFTER_MS = 50;

/**
 * Returns the refusal of a forwarded request for a workspace that this node does not lead. The header tells the sender that nothing
 * was done, so it may try again. The engine's error with the same code has no such header.
 */
const notTheOwner = () =>
  new AppError(503, 'not_leading', 'This server does not lead the workspace at the moment.', {
    headers: { 'Retry-After': '2', [FORWARDED_HEADER]: 'refused' },
  });

/** Throws UndeliveredError for the answer of a node that does not lead the workspace, or that is starting. */
export function refuseRefusal(response: IncomingMessage): void {
  if (response.statusCode !== 503 || response.headers[FORWARDED_HEADER] !== 'refused') return;
  response.resume();
  throw new UndeliveredError('The node does not lead the workspace.');
}

/**
 * Forwards requests to the node that leads their workspace (docs/adr/0036-requests-are-forwarded-whole.md). That node authenticates the client again, with the
 * client's own credential, and forwards nothing.
 */
export class Forward {
  readonly peers: Peers;
  readonly #options: ForwardOptions;

  constructor(options: ForwardOptions) {
    this.#options = options;
    this.peers = new Peers(options.alarm);
  }

  /**
   * Returns the answer of the node that leads the workspace. Returns null if this node must handle the request, because it leads the
   * workspace or no leader is known. The request must have been authenticated and counted. `limit`: the maximum bytes of its body.
   * Throws AppError 503 if the other node could not be reached or did not answer, or if the request was forwarded to this node,
   * which does not lead the workspace.
   */
  async toOwner(
    request: ApiRequest,
    tenantId: string,
    { limit, requestId }: { limit: number; requestId: string },
  ): Promise<ApiResponse | null> {
    if (this.isHere(request, tenantId)) return null;
    const sendsBody = request.method !== 'GET' && request.method !== 'HEAD';
    const body = sendsBody ? await request.body(limit).catch(() => null) : null;
    // A body that is too large or ends early is refused by this node.
    if (sendsBody && body === null) return null;
    const clientGone = new AbortController();
    const stopWatching = request.onDisconnect?.(() => clientGone.abort());
    const answer = await this.attempt(tenantId, clientGone.signal, async url => {
      const response = await this.peers.send(url, this.peerRequest(request, { body, requestId }), clientGone.signal);
      refuseRefusal(response);
      return relayed(response, request);
    });
    // While an answer is streamed, its sender notices a client that leaves.
    stopWatching?.();
    return answer;
  }

  /** Returns whether this node handles the request. Throws AppError 503 if it was forwarded to this node, which does not lead. */
  isHere({ forwarded = false }: { forwarded?: boolean }, tenantId: string): boolean {
    const { kind } = this.#options.ownerOf(tenantId);
    if (forwarded && kind !== 'here') throw notTheOwner();
    return kind !== 'node';
  }

  /**
   * Calls `send` with the address of the owner, again while it throws UndeliveredError. Returns null as soon as the owner is this
   * node, or unknown. Throws AppError 503 after two seconds, or for UnansweredError.
   */
  async attempt<T>(tenantId: string, clientGone: AbortSignal, send: (url: string) => Promise<T>): Promise<T | null> {
    const { ownerOf, count } = this.#options;
    const until = performance.now() + RETRY_FOR_MS;
    for (;;) {
      const owner = ownerOf(tenantId);
      if (owner.kind !== 'node') return null;
      try {
        const answer = await send(owner.url);
        count('answered');
        return answer;
      } catch (error) {
        if (clientGone.aborted) count('left');
        else if (error instanceof UnansweredError) count('unanswered');
        if (error instanceof UnansweredError) throw unknownOutcome(error);
        if (!(error instanceof UndeliveredError)) throw error;
        if (clientGone.aborted || performance.now() >= until) {
          if (!clientGone.aborted) count('undelivered');
          throw unavailable('not_leading', 'The server that leads this workspace cannot be reached.', 2, error);
        }
      }
      await this.#pause();
    }
  }

  /** Returns the request for another node, signed. */
  peerRequest(
    request: Forwardable,
    more: { body: Uint8Array | null; requestId?: string; headers?: Record<string, string> },
  ): PeerRequest {
    const { self, seal } = this.#options;
    const target = request.pathname + request.search;
    const headers: Record<string, string> = { ...requestHeaders(request), ...more.headers };
    if (more.requestId !== undefined) headers['x-request-id'] = more.requestId;
    if (more.body !== null) headers['content-length'] = String(more.body.byteLength);
    const { method, address } = request;
    const signed = { method, target, header: (name: string) => headers[name] };
    headers[FORWARDED_HEADER] = seal.seal({ from: self, address }, signed);
    return { method, target, headers, body: more.body };
  }

  close(): void {
    this.peers.close();
  }

  #pause(): Promise<void> {
    return new Promise(resolve => {
      this.#options.alarm(RETRY_AFTER_MS, resolve);
    });
  }
}

const unknownOutcome = (cause: Error): AppError =>
  unavailable(
    'outcome_unknown',
    'The server that leads this workspace did not answer, and may have done what was asked. A repetition with the same run id or Idempotency-Key does it once.',
    2,
    cause,
  );
