import { createProgram, runProgram } from './command-line.ts';

/**
 * `npm run baton -- <command>`: the operator's commands besides starting the service. They work with
 * or without a running server.
 */
const program = createProgram({
  doctor: {
    description: 'look for what is wrong: database, disk, master key, processes, runs (docs/doctor.md)',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  billing: {
    description: 'plans, payments, credits and codes (docs/billing.md)',
    load: async () => (await import('./billing/billing.ts')).billing,
  },
  analytics: {
    description: 'check or rebuild the rollups of analytics (docs/analytics.md)',
    load: async () => (await import('./analytics.ts')).analytics,
  },
  retention: {
    description: 'delete what is past its retention, or show what would be deleted (docs/operations.md)',
    load: async () => (await import('./retention.ts')).retention,
  },
  workspaces: {
    description: 'create and list workspaces (docs/operations.md)',
    load: async () => (await import('./workspaces.ts')).workspaces,
  },
  migrate: {
    description: 'migrate an external database before this version starts (docs/deploy.md)',
    load: async () => (await import('./migrate.ts')).migration,
  },
  runs: {
    description: 'list and stop the active runs of a workspace (docs/operations.md)',
    load: async () => (await import('./runs.ts')).runs,
  },
  backup: {
    description: 'back up the database while the service runs, or verify a backup (docs/backup.md)',
    load: async () => (await import('./backup/backup.ts')).backup,
  },
  restore: {
    description: 'restore a backup into an empty database (docs/backup.md)',
    load: async () => (await import('./backup/restore.ts')).restoration,
  },
  move: {
    description: 'move the embedded database to an external PostgreSQL (docs/backup.md)',
    load: async () => (await import('./backup/move.ts')).moving,
  },
  accounts: {
    description: 'list accounts and reset passwords (docs/operations.md)',
    load: async () => (await import('./accounts.ts')).accounts,
  },
  'rotate-master-key': {
    description: 'replace the generated master key while Baton is stopped (docs/security.md)',
    load: async () => (await import('./rotate-master-key.ts')).rotation,
  },
});

await runProgram(program, process.argv.slice(2));
