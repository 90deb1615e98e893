import type { LoadJournal } from '../log/index.ts';
import type { Database } from './database.ts';
import { answerOf } from './reader.ts';
import type { Server } from './server.ts';
import type { Surroundings } from './surroundings.ts';

/** The journal of loads, kept like load-journal.ts keeps it, but in the simulated database. */
export function simulatedJournal(database: Database, server: Server, at: Surroundings): LoadJournal {
  /** The last write that ended: whether a run had room when it began, and the time of its end. */
  const before = { hadRoom: false, endedAt: -1 };
  const hasRoom = () => server.runtime?.resources.memory.hasRoom !== false;
  const request = <T>(act: () => T): Promise<T> => {
    const hadRoom = hasRoom();
    const ended = () => void Object.assign(before, { hadRoom, endedAt: at.agenda.now });
    const answered = answerOf(server, at, 'journal failed', act);
    answered.then(ended, ended);
    return answered;
  };
  return {
    deaths: open =>
      request(() => {
        for (const [key, { process, lane, runIds }] of database.loads) {
          if (process === server.name ? open.has(lane) : server.postgres.knows(process)) continue;
          database.loads.delete(key);
          if (process === server.name) continue;
          for (const runId of runIds) database.loadDeaths.set(runId, (database.loadDeaths.get(runId) ?? 0) + 1);
        }
        return new Map(database.loadDeaths);
      }),
    begin: (lane, runIds) => {
      // If this write waited for another one to end, it was decided while memory had room.
      const hadRoom = before.endedAt === at.agenda.now && before.hadRoom;
      if (lane === 'background' && !hasRoom() && !hadRoom)
        at.fail('memory', `${runIds.length} runs are loaded in the background while memory is used up`);
      return request(() => void database.loads.set(`${server.name} ${lane}`, { process: server.name, lane, runIds }));
    },
    end: lane => request(() => void database.loads.delete(`${server.name} ${lane}`)),
    forget: runId => request(() => void database.loadDeaths.delete(runId)),
  };
}
