import type { RunEvent, RunState } from '../core/index.ts';
import { type Engine, engine } from './engine.ts';
import type { Options } from './simulate.ts';

type Decide = Engine['decide'];

const deciding = (decide: Decide): Options => ({ engine: { ...engine, decide } });
const evolving = (evolve: Engine['evolve']): Options => ({ engine: { ...engine, evolve } });
/** Decides as ever and then changes what came of it. */
const rewriting = (rewrite: (events: RunEvent[], state: RunState) => RunEvent[]): Options =>
  deciding((state, command, now) => rewrite(engine.decide(state, command, now), state));
/** Decides as if the state were a little different. */
const pretending = (pretend: (state: RunState) => Partial<RunState>): Options =>
  deciding((state, command, now) => engine.decide({ ...state, ...pretend(state) }, command, now));

/**
 * Engines that are wrong in one way each, with the checkers that must notice: the simulation is worth only as much
 * as what it catches.
 */
export const BROKEN_ENGINES: readonly { name: string; options: Options; caughtBy: readonly string[] }[] = [
  {
    name: 'begins steps while paused',
    options: deciding((state, command, now) => {
      const seen =
        command.type === 'begin_attempt' && state.status === 'paused'
          ? { ...state, status: 'running' as const }
          : state;
      return engine.decide(seen, command, now);
    }),
    caughtBy: ['order'],
  },
  {
    name: 'begins steps while draining',
    options: deciding((state, command, now) =>
      engine.decide(command.type === 'begin_attempt' ? { ...state, stopRequested: null } : state, command, now),
    ),
    caughtBy: ['order'],
  },
  {
    name: 'ends a step twice',
    options: rewriting(events =>
      events.flatMap<RunEvent>(event => (event.type === 'step_completed' ? [event, event] : event)),
    ),
    caughtBy: ['one-end'],
  },
  {
    name: 'forgets to cancel what is in flight when a step fails',
    options: rewriting(events => events.filter(event => event.type !== 'step_cancelled')),
    caughtBy: ['one-end', 'not-stuck'],
  },
  {
    name: 'writes to a run that has ended',
    options: pretending(state => (state.endedAt === null ? {} : { status: 'running' })),
    caughtBy: ['sequence'],
  },
  {
    name: 'gives the wrong reason for a skip',
    options: rewriting(events =>
      events.map(event =>
        event.type === 'step_completed' && 'skipped' in event.data && event.data.reason === 'branch_not_taken'
          ? { ...event, data: { skipped: true, reason: 'step_disabled' } }
          : event,
      ),
    ),
    caughtBy: ['skips'],
  },
  {
    name: 'runs the branch that was not taken',
    options: evolving((state, event) => {
      engine.evolve(state, event);
      if ('step' in event && state.steps.has(event.step))
        Object.assign(state.steps.get(event.step) ?? {}, { branch: undefined });
      return state;
    }),
    caughtBy: ['skips', 'not-stuck', 'effects'],
  },
  {
    name: 'forgets to complete the run',
    options: rewriting(events =>
      events.filter(event => event.type !== 'state_changed' || event.data.to !== 'completed'),
    ),
    caughtBy: ['not-stuck'],
  },
  {
    name: 'begins a retry before it is due',
    options: deciding((state, command, now) =>
      engine
        .decide(state, command, now + (command.type === 'begin_attempt' ? 1e9 : 0))
        .map(event => ({ ...event, at: now })),
    ),
    caughtBy: ['order'],
  },
  {
    name: 'retries for ever',
    options: deciding((state, command, now) => {
      const steps = new Map([...state.steps].map(([id, step]) => [id, { ...step, failures: 0 }]));
      return engine.decide({ ...state, steps }, command, now);
    }),
    caughtBy: ['attempts'],
  },
  {
    name: 'begins a lost attempt again without end',
    options: deciding((state, command, now) => {
      const steps = new Map([...state.steps].map(([id, step]) => [id, { ...step, lost: 0 }]));
      return engine.decide({ ...state, steps }, command, now);
    }),
    caughtBy: ['attempts'],
  },
  {
    name: 'counts attempts wrongly after a crash',
    options: rewriting((events, state) =>
      events.map(event =>
        event.type === 'step_started' && state.inFlight.has(event.step)
          ? { ...event, attempt: event.attempt - 1 }
          : event,
      ),
    ),
    caughtBy: ['attempts'],
  },
  {
    name: 'begins a step when one of its dependencies has ended',
    options: evolving((state, event) => {
      engine.evolve(state, event);
      for (const [id, step] of state.steps) {
        if (step.status === 'pending' && step.open === 1) {
          step.status = 'ready';
          state.ready.add(id);
        }
      }
      return state;
    }),
    caughtBy: ['order', 'effects', 'skips'],
  },
  {
    name: 'changes the state while it decides',
    options: deciding((state, command, now) => {
      const events = engine.decide(state, command, now);
      if (events.length > 1) state.results.set('decided', events.length);
      return events;
    }),
    caughtBy: ['replay'],
  },
  {
    name: 'forgets the timer of a retry',
    options: { engine: { ...engine, effects: state => ({ ...engine.effects(state), timers: [] }) } },
    caughtBy: ['effects'],
  },
  {
    name: 'forgets what a crash has interrupted',
    options: { engine: { ...engine, effects: state => ({ ...engine.effects(state), inFlight: [] }) } },
    caughtBy: ['effects'],
  },
  {
    name: 'stops a run that a step has failed',
    options: rewriting(events =>
      events.map(event =>
        event.type === 'state_changed' && event.data.to === 'failed'
          ? { ...event, data: { from: event.data.from, to: 'stopped' } }
          : event,
      ),
    ),
    caughtBy: ['endings'],
  },
  {
    name: 'blames the wrong reason for a cancellation',
    options: rewriting(events =>
      events.map(event =>
        event.type === 'step_cancelled' ? { ...event, data: { ...event.data, reason: 'RUN_STOPPED' } } : event,
      ),
    ),
    caughtBy: ['endings'],
  },
  { name: 'acknowledges before it has written', options: { acksEarly: true }, caughtBy: ['durability'] },
  {
    name: 'lets two processes write the same run',
    options: { fenced: false },
    caughtBy: ['attempts', 'one-end', 'order', 'sequence', 'replay', 'skips', 'endings', 'not-stuck'],
  },
];
