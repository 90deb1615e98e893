{{- define "baton.name" -}}
{{- if contains "baton" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-baton" (.Release.Name | trunc 44 | trimSuffix "-") }}{{ end -}}
{{- end }}

{{- define "baton.selector" -}}
app.kubernetes.io/name: baton
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "baton.labels" -}}
{{ include "baton.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "baton.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* What the service and the migration before it have in common. */ -}}
{{- define "baton.container" -}}
image: {{ include "baton.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  - { name: BATON_URL, value: {{ .Values.url | quote }} }
  - { name: BATON_TRUSTED_PROXIES, value: {{ .Values.trustedProxies | quote }} }
  - { name: BATON_CLUSTER, value: {{ ternary "on" "off" .Values.cluster | quote }} }
  {{- range $name, $value := .Values.settings }}
  - { name: {{ $name }}, value: {{ $value | quote }} }
  {{- end }}
  {{- range .Values.secret.keys }}
  - name: {{ . }}
    valueFrom: { secretKeyRef: { name: {{ $.Values.secret.name }}, key: {{ . }} } }
  {{- end }}
resources: {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - { name: data, mountPath: /var/lib/baton }
  - { name: tmp, mountPath: /tmp }
{{- end }}
