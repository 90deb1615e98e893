import type { LoadJournal } from '../log/index.ts';
import type { Database } from './database.ts';
import { answerOf } from './reader.ts';
import type { Server } from './server.ts';
import type { Surroundings } from './surroundings.ts';

/** The journal of loads as load-journal.ts keeps it, in the simulated database. */
export function simulatedJournal(database: Database, server: Server, at: Surroundings): LoadJournal {
  const ask = <T>(act: () => T): Promise<T> => answerOf(server, at, 'journal failed', act);
  return {
    deaths: () =>
      ask(() => {
        for (const [key, { process, runIds }] of database.loads) {
          database.loads.delete(key);
          if (process === server.name) continue;
          for (const runId of runIds) database.loadDeaths.set(runId, (database.loadDeaths.get(runId) ?? 0) + 1);
        }
        return new Map(database.loadDeaths);
      }),
    begin: (lane, runIds) => {
      if (lane === 'background' && server.runtime?.resources.memory.hasRoom === false)
        at.fail('memory', `${runIds.length} runs are loaded in the background while memory is used up`);
      return ask(() => void database.loads.set(`${server.name} ${lane}`, { process: server.name, runIds }));
    },
    end: lane => ask(() => void database.loads.delete(`${server.name} ${lane}`)),
    forget: runId => ask(() => void database.loadDeaths.delete(runId)),
  };
}
