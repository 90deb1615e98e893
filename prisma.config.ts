import { defineConfig } from 'prisma/config';

/** Only for people who run Prisma's own CLI; Baton itself applies the migrations at start. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
