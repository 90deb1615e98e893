import { Resolver } from 'node:dns/promises';
import dns from 'dns2';
import type { Lookup } from '../platform/egress/egress.ts';

export type TestDns = {
  /** Looks a name up at the test's DNS server over UDP, for A and AAAA. */
  lookup: Lookup;
  /** Gives the name these addresses from now on. Several lists are returned one after the other, and the last one permanently. */
  set(name: string, ...answers: string[][]): void;
  /** Returns how often the name was looked up. */
  asked(name: string): number;
  close(): Promise<void>;
};

/**
 * Starts a real DNS server for a test's own names, whose answers may change between two
 * queries, as in a rebinding attack.
 */
export async function startTestDns(): Promise<TestDns> {
  const records = new Map<string, { answers: string[][]; asked: number }>();
  const server = dns.createServer({
    udp: true,
    handle(request, send) {
      const response = dns.Packet.createResponseFromRequest(request);
      for (const question of request.questions) {
        const record = records.get(question.name);
        const ipv6 = question.type === dns.Packet.TYPE.AAAA;
        // The resolver below asks for AAAA once A is answered, so both queries see the same list.
        const at = Math.min(record?.asked ?? 0, (record?.answers.length ?? 1) - 1);
        for (const address of record?.answers[at] ?? []) {
          if (address.includes(':') !== ipv6) continue;
          response.answers.push(dns.Packet.createResourceFromQuestion(question, { ttl: 0, address }));
        }
        if (ipv6 && record) record.asked += 1;
      }
      send(response);
    },
  });
  const { udp } = await server.listen({ udp: { port: 0, address: '127.0.0.1' } });
  if (!udp) throw new Error('The DNS server did not start.');
  const resolver = new Resolver({ timeout: 60_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${udp.port}`]);
  const emptyIfNoData = (answer: Promise<string[]>) =>
    answer.catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENODATA') return [];
      throw error;
    });
  return {
    async lookup(name) {
      const ipv4 = await emptyIfNoData(resolver.resolve4(name));
      const ipv6 = await emptyIfNoData(resolver.resolve6(name));
      if (ipv4.length + ipv6.length === 0) throw Object.assign(new Error(`no address: ${name}`), { code: 'ENOTFOUND' });
      return [...ipv4.map(address => ({ address, family: 4 })), ...ipv6.map(address => ({ address, family: 6 }))];
    },
    set: (name, ...answers) => void records.set(name, { answers, asked: 0 }),
    asked: name => records.get(name)?.asked ?? 0,
    close: () => server.close(),
  };
}
