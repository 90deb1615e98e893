import type { Metadata } from 'next';
import { InstancePage } from '@/components/mcp-servers/instance-page.tsx';

export const metadata: Metadata = { title: 'MCP instance' };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <InstancePage id={id} />;
}
