// SPDX-License-Identifier: Apache-2.0

// Decodes the files of examples/kubernetes strictly into the types of Kubernetes: an unknown or misplaced field, or a
// value of another type, is an error.
package examples

import (
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// read decodes a file and finds its pod.
func read(t *testing.T, name string) *corev1.PodSpec {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var kind struct{ Kind string }
	if err := yaml.Unmarshal(text, &kind); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var deployment appsv1.Deployment
	var cronJob batchv1.CronJob
	var spec *corev1.PodSpec
	switch kind.Kind {
	case "Deployment":
		err, spec = yaml.UnmarshalStrict(text, &deployment), &deployment.Spec.Template.Spec
	case "CronJob":
		err, spec = yaml.UnmarshalStrict(text, &cronJob), &cronJob.Spec.JobTemplate.Spec.Template.Spec
	default:
		t.Fatalf("%s: a kind without a test: %q", name, kind.Kind)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return spec
}

// Each file has only fields that Kubernetes knows, and zkr as process 1 of its container, with a time to end.
func TestExamples(t *testing.T) {
	names, err := filepath.Glob("../../examples/kubernetes/*.yaml")
	if err != nil || len(names) != 2 {
		t.Fatalf("%v: %v", names, err)
	}
	for _, name := range names {
		spec := read(t, name)
		if len(spec.Containers) != 1 || len(spec.Containers[0].Command) == 0 || spec.Containers[0].Command[0] != "zkr" {
			t.Errorf("%s: zkr is not process 1", name)
		}
		if spec.TerminationGracePeriodSeconds == nil || *spec.TerminationGracePeriodSeconds < 30 {
			t.Errorf("%s: too little time to end", name)
		}
	}
}
