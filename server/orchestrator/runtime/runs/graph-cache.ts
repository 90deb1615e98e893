import type { Pool } from 'pg';
import { ByteCache, bytesInMemory } from '../../../platform/byte-cache.ts';
import { unavailable } from '../../../platform/errors.ts';
import { CACHE_LIMITS } from '../../cache-limits.ts';
import { type CompiledGraph, compile, type Graph } from '../../core/index.ts';

export type VersionRef = { tenantId: string; workflowId: string; version: number };
/** Reads a published snapshot; null if there is none. */
export type LoadVersion = (ref: VersionRef) => Promise<Graph | null>;

/** Published snapshots from `workflow_versions`. */
export function loadVersionFrom(pool: Pool): LoadVersion {
  return async ({ tenantId, workflowId, version }) => {
    const { rows } = await pool.query<{ graph_snapshot: Graph }>({
      name: 'runtime_load_version',
      text: 'SELECT graph_snapshot FROM workflow_versions WHERE workflow_id = $1 AND version = $2 AND tenant_id = $3',
      values: [workflowId, version, tenantId],
    });
    return rows[0]?.graph_snapshot ?? null;
  };
}

/**
 * The memory that compiling adds for each step of a snapshot, and for each pair of steps (a bit, for the ancestors).
 */
const COMPILED_STEP_BYTES = 600;

/** Compiled graphs by version, the least recently used dropped first. Versions are immutable, so nothing expires. */
export class GraphCache {
  readonly #load: LoadVersion;
  readonly #graphs: ByteCache<CompiledGraph>;
  readonly #loading = new Map<string, Promise<CompiledGraph>>();

  constructor(load: LoadVersion, maxBytes: number = CACHE_LIMITS.graphs) {
    this.#load = load;
    this.#graphs = new ByteCache(maxBytes);
  }

  /** The approximate size of the graphs, in bytes. */
  get bytes(): number {
    return this.#graphs.bytes;
  }

  /** Throws an Error where the version does not exist, AppError 503 where it cannot be read. */
  get(ref: VersionRef): CompiledGraph | Promise<CompiledGraph> {
    const key = `${ref.tenantId}/${ref.workflowId}/${ref.version}`;
    return this.#graphs.get(key) ?? this.#loading.get(key) ?? this.#fetch(key, ref);
  }

  #fetch(key: string, ref: VersionRef): Promise<CompiledGraph> {
    const loading = this.#load(ref)
      .catch((error: unknown) => {
        throw unavailable('unavailable', 'The workflow version cannot be read at the moment.', 2, error);
      })
      .then(snapshot => {
        if (snapshot === null) throw new Error(`version ${ref.version} of workflow ${ref.workflowId} does not exist`);
        const graph = compile(snapshot);
        this.#graphs.set(key, graph, bytesOf(snapshot));
        return graph;
      })
      .finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }
}

function bytesOf(snapshot: Graph): number {
  const steps = snapshot.steps.length;
  return bytesInMemory(snapshot) + steps * (COMPILED_STEP_BYTES + steps / 8);
}
