import { expect, test } from 'vitest';
import { startFakeModel } from '../../bin/fake-model/server.ts';
import { MessageParts, textOf } from '../../server/domains/chat/stream/parts.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { openSse } from '../../server/testing/sse-client.ts';
import { Installation } from '../fixtures/service.ts';
import { Client } from './client.ts';
import { timeoutFor } from './random.ts';

type Message = { id: string; parts: { type: string; text?: string }[]; metadata: { status: string } };

test(
  'SIGKILL of the service in the middle of a text: the client begins the turn again, and every message is answered, in order',
  async () => {
    await using db = await createTestDatabase();
    await using installation = await Installation.create({
      DATABASE_URL: db.url,
      BATON_ENABLE_AGENTS: 'true',
      BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32',
    });
    const fake = await startFakeModel();
    try {
      let service = await installation.launch();
      await service.until('ready');
      const client = new Client(service.url, installation.pat);
      const post = async (path: string, body: object) => {
        const { status, body: answer } = await client.call('POST', path, body);
        expect(status, JSON.stringify(answer)).toBeLessThan(300);
        return answer;
      };
      await post('/v1/llm-provider-keys', { provider: 'openai_compatible', base_url: fake.url, models: ['scripted'] });
      const { id } = await post('/v1/chat/threads', {});
      const thread = `/v1/chat/threads/${id}`;
      const stream = (after?: string) =>
        openSse(`${service.url}${thread}/stream`, {
          Authorization: client.authorization,
          ...(after !== undefined && { 'Last-Event-ID': after }),
        });
      fake.script({
        answers: [
          { content: [{ text: 'Once upon' }, { hold: 'killed' }] },
          { content: [{ text: 'Once more, and whole.' }] },
          ...['Two.', 'Three.'].map(text => ({ content: [{ text }] })),
        ],
      });
      await post(`${thread}/messages`, { text: 'one' });
      await fake.held('killed');
      await post(`${thread}/messages`, { text: 'two' });
      await post(`${thread}/messages`, { text: 'three' });
      const before = await stream();
      const message = new MessageParts();
      await expect
        .poll(() => before.received.map(({ chunk }) => chunk))
        .toContainEqual(expect.objectContaining({ delta: 'Once upon' }));
      await service.kill();
      await before.ended;
      for (const { chunk } of before.received) message.add(chunk);
      expect(textOf(message.parts)).toBe('Once upon');

      service = await installation.launch();
      await service.until('ready');
      client.url = service.url;
      const after = await stream(before.received.findLast(each => each.id !== null)?.id ?? undefined);
      await after.ended;
      expect(after.received[0]?.chunk).toEqual({ type: 'reset-step' });
      for (const { chunk } of after.received) message.add(chunk);
      expect(textOf(message.parts)).toBe('Once more, and whole.');

      const messages = async () => {
        const { body } = await client.call('GET', `${thread}/messages`);
        return (body.messages as Message[]).map(({ parts, metadata }) => [
          parts.map(({ text = '' }) => text).join(''),
          metadata.status,
        ]);
      };
      await expect.poll(messages).toEqual([
        ['one', 'sent'],
        ['Once more, and whole.', 'completed'],
        ['two', 'sent'],
        ['Two.', 'completed'],
        ['three', 'sent'],
        ['Three.', 'completed'],
      ]);
    } finally {
      await fake.close();
    }
  },
  timeoutFor(20_000),
);
