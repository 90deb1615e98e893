import type { z } from 'zod';
import type { AuthMode } from '../schemas.ts';

export type Adapter = {
  /** Stable and unique. */
  key: string;
  name: string;
  description: string;
  canonical_url: string;
  auth_mode: z.output<typeof AuthMode>;
  documentation_url: string;
};

/**
 * The public MCP servers that can be registered with one click; their owners run them. Only servers of an owner, at the
 * address in the owner's documentation, over https, that work without a browser: no credentials, a header, or a token
 * that can be created manually.
 */
export const platformAdapters: readonly Adapter[] = [
  {
    key: 'aws-knowledge',
    name: 'AWS Knowledge',
    description: "Search and read AWS' documentation, what is new, and where a service is available.",
    canonical_url: 'https://knowledge-mcp.global.api.aws/',
    auth_mode: 'none',
    documentation_url: 'https://awslabs.github.io/mcp/servers/aws-knowledge-mcp-server',
  },
  {
    key: 'cloudflare-docs',
    name: 'Cloudflare documentation',
    description: "Search Cloudflare's developer documentation.",
    canonical_url: 'https://docs.mcp.cloudflare.com/mcp',
    auth_mode: 'none',
    documentation_url: 'https://developers.cloudflare.com/agents/model-context-protocol/mcp-servers-for-cloudflare/',
  },
  {
    key: 'context7',
    name: 'Context7',
    description:
      'Documentation of libraries, by version. A connection with the credential CONTEXT7_API_KEY raises its limits.',
    canonical_url: 'https://mcp.context7.com/mcp',
    auth_mode: 'header',
    documentation_url: 'https://github.com/upstash/context7',
  },
  {
    key: 'deepwiki',
    name: 'DeepWiki',
    description: 'Ask questions about any public GitHub repository.',
    canonical_url: 'https://mcp.deepwiki.com/mcp',
    auth_mode: 'none',
    documentation_url: 'https://docs.devin.ai/work-with-devin/deepwiki-mcp',
  },
  {
    key: 'github',
    name: 'GitHub',
    description:
      'Repositories, issues, pull requests and actions. Needs a connection with a GitHub personal access token.',
    canonical_url: 'https://api.githubcopilot.com/mcp/',
    auth_mode: 'token',
    documentation_url: 'https://github.com/github/github-mcp-server',
  },
  {
    key: 'hugging-face',
    name: 'Hugging Face',
    description: 'Search models, datasets, Spaces and papers. Needs a connection with a Hugging Face access token.',
    canonical_url: 'https://huggingface.co/mcp',
    auth_mode: 'token',
    documentation_url: 'https://huggingface.co/docs/hub/hf-mcp-server',
  },
  {
    key: 'linear',
    name: 'Linear',
    description: 'Issues, projects and cycles. Needs a connection with a Linear API key.',
    canonical_url: 'https://mcp.linear.app/mcp',
    auth_mode: 'token',
    documentation_url: 'https://linear.app/docs/mcp',
  },
  {
    key: 'microsoft-learn',
    name: 'Microsoft Learn',
    description: "Search and read Microsoft's technical documentation.",
    canonical_url: 'https://learn.microsoft.com/api/mcp',
    auth_mode: 'none',
    documentation_url: 'https://learn.microsoft.com/en-us/training/support/mcp',
  },
  {
    key: 'stripe',
    name: 'Stripe',
    description:
      'Customers, invoices, payments and documentation. Needs a connection with a restricted Stripe API key.',
    canonical_url: 'https://mcp.stripe.com/',
    auth_mode: 'token',
    documentation_url: 'https://docs.stripe.com/mcp',
  },
];
