import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, DriverAdapterError } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

/**
 * PrismaPg splits a script at every semicolon, even inside a comment or a function body, and commits after each piece.
 * Sent as a whole, PostgreSQL parses it itself, and a migration that fails midway leaves nothing behind.
 */
class WholeScriptAdapter extends PrismaPg {
  override async connect() {
    const adapter = await super.connect();
    adapter.executeScript = async script => {
      try {
        await adapter.underlyingDriver().query(script);
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error;
        throw new DriverAdapterError({
          kind: 'postgres',
          code: error.code ?? 'XX000',
          severity: error.severity ?? 'ERROR',
          message: error.message,
          detail: error.detail,
          column: error.column,
          hint: error.hint,
        });
      }
    };
    return adapter;
  }
}

type Glue = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');

/**
 * The glue code keeps its only instance in a module variable: a second instance would corrupt the first one's memory.
 */
let loaded: Promise<Glue> | undefined;

/**
 * The package's own entry imports the .wasm file as a module, which requires a flag for every node command;
 * here its glue code is combined with the bytes instead. Compiling them costs about 0.1 s and 30 MB, so
 * only pending migrations do it.
 */
async function load(): Promise<Glue> {
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const require = createRequire(import.meta.url);
  const file = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm');
  const { instance } = await WebAssembly.instantiate(await readFile(file), {
    './schema_engine_bg.js': glue,
  });
  const { __wbg_set_wasm } = glue as { __wbg_set_wasm(exports: WebAssembly.Exports): void };
  __wbg_set_wasm(instance.exports);
  const start = instance.exports.__wbindgen_start as () => void;
  start();
  return glue;
}

/** Returns Prisma's own schema engine, as WebAssembly, working through `pool`. The caller frees it. */
export async function createSchemaEngine(
  pool: pg.Pool,
  schemas: [path: string, content: string][],
): Promise<SchemaEngine> {
  loaded ??= load();
  const { SchemaEngine } = await loaded;
  const adapter = bindMigrationAwareSqlAdapterFactory(new WholeScriptAdapter(pool));
  return SchemaEngine.new({ datamodels: schemas }, () => undefined, adapter);
}
