import type { Metadata } from 'next';
import { ModelKeys } from '@/components/models/model-keys.tsx';

export const metadata: Metadata = { title: 'Model keys' };

export default function ModelKeysPage() {
  return <ModelKeys />;
}
