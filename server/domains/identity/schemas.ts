import { z } from 'zod';
import { billingModes } from '../../operation/billing-settings.ts';
import { Id, NameText, nextCursor, page, Timestamp } from '../../operation/wire.ts';
import { projectRoles, roles, scopes } from '../../orchestrator/ports/authority.ts';

export const Email = z.email().max(320).toLowerCase();
/**
 * An address that can receive mail: RFC 5321 allows 64 characters before the @ and 254 in total.
 * Older accounts may have others.
 */
const NewEmail = z
  .email()
  .max(254)
  .regex(/^[^@]{1,64}@/, 'must have at most 64 characters before the @')
  .toLowerCase();
export const PersonName = NameText(120);
export const Password = z.string().min(10, 'must be at least 10 characters').max(200);
export const TenantSlug = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);

export const Project = z.strictObject({ id: Id, name: z.string(), created_at: Timestamp });
const ProjectAccess = z.strictObject({ id: Id, name: z.string(), role: z.enum(projectRoles) });
export const Me = z.strictObject({
  user: z.strictObject({
    id: Id,
    email: z.string(),
    name: z.string(),
    /** Whether the account has proved that the address is its own. */
    confirmed: z.boolean(),
  }),
  /** The tenant and project of this request. */
  tenant: z.strictObject({ id: z.string(), name: z.string() }),
  project: z.strictObject({ id: Id, name: z.string() }),
  role: z.enum(roles),
  scopes: z.array(z.enum(scopes)),
  /** Whether the user may call POST /v1/workspaces, apart from its limit. */
  can_create_workspaces: z.boolean(),
  /** How this deployment treats credits (`BATON_BILLING`). */
  billing: z.enum(billingModes),
  /** Whether this deployment has agents (`BATON_ENABLE_AGENTS`). */
  agents: z.boolean(),
  /** Whether this deployment has memory (`BATON_MEMORY`). */
  memory: z.boolean(),
  /** The tenants and projects to which the user can switch. */
  tenants: z.array(
    z.strictObject({ id: z.string(), name: z.string(), tenant_admin: z.boolean(), projects: z.array(ProjectAccess) }),
  ),
});
export const Member = z.strictObject({
  user_id: Id,
  email: z.string(),
  name: z.string(),
  /** Whether the account has proved that the address is its own. */
  confirmed: z.boolean(),
  tenant_admin: z.boolean(),
  /** The role on the request's project; null if the member has no role on it. */
  role: z.enum(projectRoles).nullable(),
  created_at: Timestamp,
});
export const ListMembersOutput = z.strictObject({ members: z.array(Member), ...nextCursor });
export const UpdateMemberInput = z.strictObject({
  user_id: Id,
  role: z.enum(projectRoles).optional(),
  tenant_admin: z.boolean().optional(),
});
export const Invitation = z.strictObject({
  id: Id,
  email: z.string(),
  role: z.enum(projectRoles),
  tenant_admin: z.boolean(),
  created_at: Timestamp,
  expires_at: Timestamp,
});
export const CreateInvitationInput = z.strictObject({
  email: NewEmail,
  role: z.enum(projectRoles),
  tenant_admin: z.boolean().default(false),
});
export const CreateInvitationOutput = Invitation.extend({ accept_url: z.string(), token: z.string() });
export const ListInvitationsInput = z.strictObject({ ...page });
export const AcceptInvitationInput = z.strictObject({
  token: z.string().min(1).max(200),
  name: PersonName,
  password: Password,
});

export const UpdateMeInput = z.strictObject({ name: PersonName });
export const UpdateMeOutput = Me.shape.user;
export const ChangePasswordInput = z.strictObject({
  current_password: z.string().min(1).max(200),
  new_password: Password,
});

/** A UUID is not allowed: X-Project-Id takes an id or a name, which must be distinguishable. */
const ProjectName = NameText(120).refine(name => !Id.safeParse(name).success, 'must not be a UUID');
export const ListProjectsInput = z.strictObject({ ...page });
export const ListProjectsOutput = z.strictObject({ projects: z.array(Project), ...nextCursor });
export const CreateProjectInput = z.strictObject({ name: ProjectName });
export const UpdateProjectInput = z.strictObject({ id: Id, name: ProjectName });

export const WorkspaceName = z.string().trim().min(1).max(120);
export const Workspace = z.strictObject({
  slug: z.string().meta({ description: 'Names the workspace in X-Tenant-Id; never changes' }),
  name: z.string(),
  /** Whether the user administers the workspace. */
  tenant_admin: z.boolean(),
  created_at: Timestamp,
});
export const ListWorkspacesInput = z.strictObject({ ...page });
export const ListWorkspacesOutput = z.strictObject({ workspaces: z.array(Workspace), ...nextCursor });
export const CreateWorkspaceInput = z.strictObject({
  slug: TenantSlug.meta({ description: 'Lower-case letters, digits and hyphens; unique on this deployment' }),
  name: WorkspaceName,
});
export const CreateWorkspaceOutput = Workspace.extend({ project: Project });

export const ListMembersInput = z.strictObject({ ...page });
export const RemoveMemberInput = z.strictObject({ user_id: Id });

export const ListInvitationsOutput = z.strictObject({ invitations: z.array(Invitation), ...nextCursor });
export const AcceptInvitationOutput = z.strictObject({ user_id: Id, tenant_id: z.string(), email: z.string() });

export const SetupStatus = z.strictObject({ required: z.boolean() });
export const SetupInput = z.strictObject({
  /** The token that was printed at start-up. */
  token: z.string().min(1).max(200),
  /** Default: BATON_TENANT. */
  tenant: TenantSlug.optional(),
  name: PersonName,
  email: NewEmail,
  password: Password,
});
export const SetupOutput = z.strictObject({ user_id: Id, tenant_id: z.string() });

export const SignUpStatus = z.strictObject({ open: z.boolean() });
export const SignUpInput = z.strictObject({
  email: NewEmail,
  name: PersonName,
  password: Password,
  slug: CreateWorkspaceInput.shape.slug,
  /** Default: the slug. */
  workspace_name: WorkspaceName.optional(),
});
export const SignUpOutput = z.strictObject({ user_id: Id, tenant_id: z.string(), email: z.string() });

const LinkToken = z.string().min(1).max(200);
export const ConfirmAddressInput = z.strictObject({ token: LinkToken, password: z.string().min(1).max(200) });
export const ConfirmAddressOutput = z.strictObject({ email: z.string() });
export const RequestPasswordResetInput = z.strictObject({ email: NewEmail });
export const ResetPasswordInput = z.strictObject({ token: LinkToken, password: Password });
export const ResetPasswordOutput = z.strictObject({ email: z.string() });

export const ById = z.strictObject({ id: Id });
export const Nothing = z.strictObject({});
/** The body of a 204. */
export const NoContent = z.undefined();
