import { expect, test } from 'vitest';
import { shareableUrl } from './shareable-url.ts';

const scope = { tenant: 'acme', project: 'p1' };

test.each([
  ['https://b.example/workflows/w', 'https://b.example/workflows/w?tenant=acme&project=p1'],
  [
    'https://b.example/workflows/w?step=a&run=1&cursor=x#y',
    'https://b.example/workflows/w?step=a&tenant=acme&project=p1',
  ],
  [
    'https://b.example/workflows/w?project=old&tab=runs',
    'https://b.example/workflows/w?project=p1&tab=runs&tenant=acme',
  ],
])('%s is shared as %s', (address, link) => expect(shareableUrl(address, scope)).toBe(link));
