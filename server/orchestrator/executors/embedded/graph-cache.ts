import type { Pool } from 'pg';
import { unavailable } from '../../../platform/errors.ts';
import { type CompiledGraph, compile, type Graph } from '../../core/index.ts';

export type VersionRef = { tenantId: string; workflowId: string; version: number };
/** Reads a published snapshot; null where there is none. */
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

/** Graphs of 10 steps are ~10 KiB compiled, of 2,000 steps ~2 MiB: 256 of them are affordable and cover what is in use. */
const CAPACITY = 256;

/** Compiled graphs by version, the least recently used dropped first. Versions are immutable, so nothing expires. */
export class GraphCache {
  readonly #load: LoadVersion;
  readonly #graphs = new Map<string, CompiledGraph>();
  readonly #loading = new Map<string, Promise<CompiledGraph>>();

  constructor(load: LoadVersion) {
    this.#load = load;
  }

  /** Throws an Error where the version does not exist, AppError 503 where it cannot be read. */
  get(ref: VersionRef): CompiledGraph | Promise<CompiledGraph> {
    const key = `${ref.tenantId}/${ref.workflowId}/${ref.version}`;
    const graph = this.#graphs.get(key);
    if (graph === undefined) return this.#loading.get(key) ?? this.#fetch(key, ref);
    this.#graphs.delete(key);
    this.#graphs.set(key, graph);
    return graph;
  }

  #fetch(key: string, ref: VersionRef): Promise<CompiledGraph> {
    const loading = this.#load(ref)
      .catch((error: unknown) => {
        throw unavailable('unavailable', 'The workflow version cannot be read at the moment.', 2, error);
      })
      .then(snapshot => {
        if (snapshot === null) throw new Error(`version ${ref.version} of workflow ${ref.workflowId} does not exist`);
        const graph = compile(snapshot);
        this.#graphs.set(key, graph);
        const oldest = this.#graphs.keys().next();
        if (this.#graphs.size > CAPACITY && !oldest.done) this.#graphs.delete(oldest.value);
        return graph;
      })
      .finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }
}
