// Decodes each manifest on standard input as Kubernetes' own types, strictly: a field that its kind does not have is an error.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

var kinds = map[string]func() any{
	"v1/ConfigMap":                            func() any { return &corev1.ConfigMap{} },
	"v1/Namespace":                            func() any { return &corev1.Namespace{} },
	"v1/Secret":                               func() any { return &corev1.Secret{} },
	"v1/Service":                              func() any { return &corev1.Service{} },
	"apps/v1/StatefulSet":                     func() any { return &appsv1.StatefulSet{} },
	"networking.k8s.io/v1/NetworkPolicy":      func() any { return &networkingv1.NetworkPolicy{} },
	"policy/v1/PodDisruptionBudget":           func() any { return &policyv1.PodDisruptionBudget{} },
	"monitoring.coreos.com/v1/PrometheusRule": func() any { return &monitoringv1.PrometheusRule{} },
	"monitoring.coreos.com/v1/ServiceMonitor": func() any { return &monitoringv1.ServiceMonitor{} },
}

func check(manifest []byte) error {
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(manifest, &meta); err != nil {
		return err
	}
	name := meta.APIVersion + "/" + meta.Kind
	make, known := kinds[name]
	if !known {
		return fmt.Errorf("%s: of no kind that is known here", name)
	}
	if err := yaml.UnmarshalStrict(manifest, make()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Println(name)
	return nil
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	failed := false
	for _, manifest := range bytes.Split(text, []byte("\n---\n")) {
		if err := check(manifest); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}
