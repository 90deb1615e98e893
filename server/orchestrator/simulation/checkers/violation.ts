import type { RunEvent } from '../../core/index.ts';
import type { History } from '../history.ts';

/** A guarantee that does not hold. */
export class Violation extends Error {
  readonly checker: string;

  constructor(checker: string, message: string) {
    super(`${checker}: ${message}`);
    this.name = 'Violation';
    this.checker = checker;
  }
}

/** Checks an event that was just written against the history before it. Throws a Violation. */
export type EventChecker = (history: History, event: RunEvent) => void;
